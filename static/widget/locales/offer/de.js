var e={look:"Ansehen",tab:"öffnet einen neuen Tab",thanks:"Vielen Dank."};export{e as default};
