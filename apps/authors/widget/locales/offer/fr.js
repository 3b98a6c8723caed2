export default {
  look: "Voir",
  tab: "s’ouvre dans un nouvel onglet",
};
