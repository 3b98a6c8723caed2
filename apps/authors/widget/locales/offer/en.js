export default {
  look: "Take a look",
  tab: "opens a new tab",
};
