var o={look:"見てみる",tab:"新しいタブで開きます"};export{o as default};
