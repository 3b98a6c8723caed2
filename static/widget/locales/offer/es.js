var a={look:"Ver más",tab:"se abre en otra pestaña",thanks:"Gracias."};export{a as default};
