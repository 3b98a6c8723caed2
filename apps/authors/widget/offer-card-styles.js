/** The look of a recommendation: a card with a badge and a line at its top, never a message's bubble. */
export const offerCss = `
.offer{padding-block-start:0;border-block-start:4px solid var(--accent)}
.mark{position:sticky;top:0;z-index:1;display:flex;align-items:center;justify-content:space-between;gap:.5em;
margin-inline:-1em;padding:.5em 1em .35em;background:var(--bg);border-radius:var(--r)}
.badge{padding:.15em .75em;border-radius:2em;background:var(--accent);color:var(--on-accent);font-size:.8125em}
.pitch{font-size:.9375em}
.ware{display:grid;grid-template-columns:auto 1fr;align-items:center;gap:.25em .85em;margin-block:.6em .35em;padding:.65em;
border:1px solid var(--border);border-radius:calc(var(--r)*.75);text-decoration:none}
.ware>span{grid-column:1/3}
.ware>img{grid-area:1/1/3/2;width:4.5em;height:4.5em;object-fit:contain;border-radius:calc(var(--r)*.4);background:var(--tint)}
.ware>img~span{grid-column:2}
.name{font-weight:600;align-self:end}
.ware:hover{border-color:var(--accent);background:var(--tint)}
.ware:hover .name{text-decoration:underline}
.deal{display:flex;flex-wrap:wrap;align-items:center;justify-content:space-between;gap:.3em .75em;align-self:start}
.go{padding:.4em .95em;border-radius:calc(var(--r)*.6);background:var(--accent);color:var(--on-accent);font-size:.875em;font-weight:600}
.helped{display:flex;flex-wrap:wrap;align-items:center;gap:.3em;min-height:2.25em;font-size:.875em}
.helped .way{min-width:3em;font-size:1em;text-align:center;color:var(--fg);border:1px solid var(--border)}
.helped [role]:first-child{flex-basis:100%}
.log .offer{position:static;flex:none;width:auto;max-height:none;box-shadow:none}
.log .mark{position:static}
@media (pointer:coarse){.mark{padding-block:0}.mark .cross{margin-inline-end:-.7em}}
@media (max-width:30em){.pitch{font-size:.875em;line-height:1.35}.ware{padding:.5em}.ware>img{width:3.75em;height:3.75em}}
@media (forced-colors:active){.badge,.go{border:1px solid}}
`;
