export default {
  look: "Ansehen",
  tab: "öffnet einen neuen Tab",
};
