var a={look:"Take a look",tab:"opens a new tab",thanks:"Thank you."};export{a as default};
