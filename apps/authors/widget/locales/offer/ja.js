export default {
  look: "見てみる",
  tab: "新しいタブで開きます",
};
