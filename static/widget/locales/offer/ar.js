var t={look:"عرض التفاصيل",tab:"يُفتح في علامة تبويب جديدة",thanks:"شكرًا لك."};export{t as default};
