var e={look:"Ver más",tab:"se abre en otra pestaña"};export{e as default};
