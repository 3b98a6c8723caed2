var a={look:"Take a look",tab:"opens a new tab"};export{a as default};
