/**
 * What the server recommends: brought where it stands, once each; all that it needs is loaded with the
 * first one. `place`: show(card), clear(card), isFree(); `alone`: a newer one takes the older one's place.
 */
export function createOffers(tools) {
  const known = new Map(); // oid -> AbortController; what is sent again was on its way

  const { on } = tools.session;
  const clear = () => known.forEach((standing) => standing.abort());

  on("offer", async (offer) => {
    const { oid } = offer;
    if (known.has(oid)) return;
    if (tools.alone) clear();
    const standing = new AbortController();
    known.set(oid, standing);
    try {
      await (await import("./offer-card.js")).bring(offer, standing.signal, tools);
    } catch {
      known.delete(oid); // it could not be loaded; it comes once more
    }
  });
  on("retract", ({ oid }) => known.get(oid)?.abort());
  on("erasing", clear);
  on("end", clear);

  return { clear };
}
