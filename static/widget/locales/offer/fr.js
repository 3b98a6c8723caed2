var o={look:"Voir",tab:"s’ouvre dans un nouvel onglet"};export{o as default};
