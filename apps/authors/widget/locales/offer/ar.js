export default {
  look: "عرض التفاصيل",
  tab: "يُفتح في علامة تبويب جديدة",
};
