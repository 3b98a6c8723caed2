// Sizes are in em of the person's own default: the page's root size is not ours. `!important` on :host
// wins over every rule of the page, `*{all:unset!important}` too.
/** The look of the surface and of the cards, shared by both modes. */
export const css = `
:host{all:initial!important;position:fixed!important;z-index:var(--lh-z,2147483000)!important;direction:ltr!important}
*{box-sizing:border-box;margin:0}
[hidden]{display:none!important}
.unseen{position:fixed;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.frame{--bg:#fff;--fg:#1a2029;--muted:#59606b;--border:#85888e;--accent:#20344d;--on-accent:#fff;
--r:var(--lh-radius,14px);--x:var(--lh-offset-x,12px);--y:var(--lh-offset-y,12px);
--line:color-mix(in srgb,var(--border) 45%,var(--bg));--tint:color-mix(in srgb,var(--accent) 9%,var(--bg));
font:1em/1.45 var(--lh-font,system-ui,sans-serif);
color:var(--fg);color-scheme:light}
.frame[data-dark]{--bg:#1c2026;--fg:#e8e8e4;--muted:#a6acb6;--border:#7a818c;--accent:#cfdcee;--on-accent:#14202f;color-scheme:dark}
.card{position:fixed;width:min(22.5em,100vw - 2*var(--x));max-height:70vh;overflow:auto;overscroll-behavior:contain;
padding:.75em 1em;background:var(--bg);border:1px solid var(--line);border-radius:var(--r);box-shadow:0 8px 32px #0003;
overflow-wrap:anywhere}
[data-at^=bottom] .card{bottom:calc(var(--y) + var(--up) + env(safe-area-inset-bottom))}
[data-at^=top] .card{top:calc(var(--y) + env(safe-area-inset-top))}
.frame[data-at$=right]>*{right:var(--x)}
.frame[data-at$=left]>*{left:var(--x)}
button,input,textarea{font:inherit;color:inherit;border-radius:calc(var(--r)*.6)}
button{background:none;border:0;padding:0;cursor:pointer;text-align:start}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
a{color:inherit}
.small,.gate,.links,blockquote{font-size:.8125em;color:var(--muted)}
.head{float:inline-end;display:flex;align-items:center;gap:.5em;margin-inline-start:.5em}
.cross{width:1.5em;margin-inline-end:-.3em;font-size:1.4em;text-align:center;color:var(--muted)}
blockquote{border-inline-start:2px solid var(--border);padding-inline-start:.7em;margin-block-end:.5em;font-style:italic;overflow:hidden}
p,span{unicode-bidi:isolate}
.asked{font-weight:600;font-size:1.0625em;line-height:1.35;margin-block:.2em .7em}
.choices{display:grid;gap:.4em;clear:both}
.choice,.main,input{min-height:44px;padding:.5em .85em;background:none;border:1px solid var(--border)}
.choice{display:flex;gap:.75em;align-items:center;justify-content:space-between}
kbd{font:inherit;font-size:.75em;color:var(--muted)}
@media (hover:hover){:where(.card) button:hover{background:var(--tint);border-color:var(--accent);color:var(--fg)}}
.choice[aria-disabled=true]{background:none;border:1px dashed var(--border);cursor:default}
.choice[data-chosen]{background:var(--accent);border:1px solid var(--accent);color:var(--on-accent)}
.choice[data-chosen] kbd{color:inherit}
.main{font-weight:600;text-align:center}
.ways{display:flex;flex-wrap:wrap;align-items:center;margin:.4em -.5em .3em}
.way{min-height:2.25em;padding:.2em .55em;font-size:.875em;color:var(--muted)}
.gate{margin-inline:auto .6em}
.reasons{border-block-start:1px solid var(--line);padding-block-start:.5em}
.links{display:flex;flex-wrap:wrap;column-gap:.9em}
.link{min-height:24px;text-decoration:underline;text-decoration-color:var(--line)}
.pair{display:flex;flex-wrap:wrap;gap:.5em;padding-block-start:.75em;position:sticky;bottom:0;background:var(--bg)}
.pair>*{flex:1 auto}
.terms{margin-block:.1em .4em}
.thanks{display:flex;flex-wrap:wrap;align-items:center;gap:.1em .5em;min-height:2em;padding-inline-end:1.75em}
.thanks::before{content:"✓" / ""}
.thanks p{flex:1 1 9em}
.thanks .way{color:var(--fg);font-weight:600}
.way[aria-disabled=true]{opacity:0}
.thanks+.head{position:absolute;top:.75em;inset-inline-end:1em}
.thanks+.head span{display:none}
@media (pointer:coarse){
kbd{display:none}
.cross,.way,.link{min-width:44px;min-height:44px}
.head{gap:0;margin-block:-.6em 0;margin-inline-end:-.9em}
.thanks+.head{margin-block:0}
}
@media (max-width:30em){
.card{inset-inline:12px;width:auto;max-height:min(max(45vh,20em),90dvh,var(--room))}
blockquote{white-space:nowrap;text-overflow:ellipsis}
.choices{grid-template-columns:repeat(auto-fit,minmax(7.75em,1fr))}
}
`;
