var o={look:"عرض التفاصيل",tab:"يُفتح في علامة تبويب جديدة"};export{o as default};
