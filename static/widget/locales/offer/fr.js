var o={look:"Voir",tab:"s’ouvre dans un nouvel onglet",thanks:"Merci."};export{o as default};
