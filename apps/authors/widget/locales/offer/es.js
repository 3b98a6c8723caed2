export default {
  look: "Ver más",
  tab: "se abre en otra pestaña",
};
