/**
 * What the server recommends: brought where it stands, once each; all that it needs is loaded with the
 * first one. `place`: show(card), clear(card), isFree(); `alone`: a newer one takes the older one's place.
 */
export function createOffers(tools) {
  const known = new Set(); // what is sent again was on its way
  let standing = new AbortController();

  function clear() {
    standing.abort();
    standing = new AbortController();
  }

  return {
    async take(offer) {
      const { oid } = offer;
      if (known.has(oid)) return;
      known.add(oid);
      if (tools.alone) clear();
      const { signal } = standing;
      try {
        await (await import("./offer-card.js")).bring(offer, signal, tools);
      } catch {
        known.delete(oid); // it could not be loaded; it comes once more
      }
    },
    clear,
  };
}
