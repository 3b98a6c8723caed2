var e={look:"Ansehen",tab:"öffnet einen neuen Tab"};export{e as default};
