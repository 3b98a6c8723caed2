var t={look:"見てみる",tab:"新しいタブで開きます",thanks:"ありがとうございます。"};export{t as default};
