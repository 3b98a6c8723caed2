/** The look of the cards, shared by both modes. */
export const css = `
.card{position:fixed;width:min(22.5em,100vw - 2*var(--x));max-height:min(70vh,100vh - 2*var(--y));overflow:auto;overscroll-behavior:contain;
padding:.75em 1em;background:var(--bg);border:1px solid var(--line);border-radius:var(--r);box-shadow:0 1px 2px #0000001a,0 10px 36px #00000026;
overflow-wrap:anywhere;animation:rise .18s ease-out}
[data-at^=bottom] .card{bottom:var(--y)}
[data-at^=top] .card{top:var(--y)}
[data-at$=right] .card{right:var(--x)}
[data-at$=left] .card{left:var(--x)}
button,input,textarea{font:inherit;color:inherit;border-radius:calc(var(--r)*.6)}
button{background:none;border:0;padding:0;cursor:pointer;text-align:start}
:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
a{color:inherit}
svg{width:1em;height:1em;flex:none;fill:none;stroke:currentColor;stroke-width:1.75;stroke-linecap:round;stroke-linejoin:round}
.small,.gate,.links,blockquote{font-size:.8125em;color:var(--muted)}
.links{font-size:.75em}
.head{float:inline-end;display:flex;align-items:center;gap:.5em;margin-inline-start:.5em}
.cross{display:grid;place-items:center;width:2em;height:2em;margin-inline-end:-.4em;color:var(--muted)}
.cross:hover,.way:hover{background:var(--tint);color:var(--fg)}
blockquote{border-inline-start:2px solid var(--border);padding-inline-start:.7em;margin-block-end:.5em;font-style:italic}
p,blockquote,span{unicode-bidi:isolate}
.asked{font-weight:600;font-size:1.0625em;line-height:1.35;margin-block:.2em .7em}
.choices{display:grid;gap:.4em;clear:both}
.choice,.main,input{min-height:44px;padding:.5em .85em;background:none;border:1px solid var(--border)}
.choice{display:flex;gap:.75em;align-items:center;justify-content:space-between;transition:background-color .12s}
kbd{font:inherit;font-size:.75em;color:var(--muted)}
.choice:hover{background:var(--tint);border-color:var(--accent)}
.choice[aria-disabled=true],.gated[aria-disabled=true]{background:none;border:1px dashed var(--border);color:var(--fg);cursor:default}
.choice[data-chosen][data-chosen]{background:var(--accent);border:1px solid var(--accent);color:var(--on-accent)}
.choice[data-chosen] kbd{color:inherit}
.main{font-weight:600;text-align:center}
.main:hover{border-color:var(--accent);background:var(--tint)}
.gated,.gated:hover{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
.ways{display:flex;flex-wrap:wrap;align-items:center;margin:.4em -.5em .3em}
.way{min-height:2.25em;padding:.2em .55em;font-size:.875em;color:var(--muted)}
.gate{margin-inline:auto .6em;font-variant-numeric:tabular-nums}
.bar{position:absolute;inset:0 0 auto;height:2px;background:var(--accent);opacity:calc((1 - var(--read))*99);transform:scaleX(var(--read));transform-origin:left}
.bar:dir(rtl){transform-origin:right}
.reasons{border-block-start:1px solid var(--line);padding-block-start:.5em}
.links{display:flex;flex-wrap:wrap;column-gap:.9em}
.link{min-height:24px;text-decoration:underline;text-decoration-color:var(--line);text-underline-offset:.2em}
.link:hover{color:var(--fg)}
.pair{display:flex;flex-wrap:wrap;gap:.5em;margin-block-start:.75em}
.pair>*{flex:1 auto}
.pair>input{flex:9 8em;min-width:0}
.terms{margin-block:.1em .4em}
.thanks{display:flex;flex-wrap:wrap;align-items:center;gap:.1em .5em;min-height:2em;padding-inline-end:1.75em}
.thanks p{flex:1 1 9em}
.thanks .way{color:var(--fg);font-weight:600}
.way[aria-disabled=true]{opacity:0}
.thanks+.head{position:absolute;top:.75em;inset-inline-end:1em}
.thanks+.head span{display:none}
@keyframes rise{from{opacity:0;transform:translateY(6px)}}
@media (prefers-reduced-motion:reduce){*{animation:none!important;transition:none!important}.bar{display:none}}
@media (forced-colors:active){.card,.choice,.main{border:1px solid ButtonText}.choice[aria-disabled=true],.gated[aria-disabled=true]{background:none;border:1px dashed var(--border);color:var(--fg);cursor:default}
.choice[data-chosen][data-chosen]{forced-color-adjust:none;background:Highlight!important;color:HighlightText!important}.bar{background:Highlight}}
`;
