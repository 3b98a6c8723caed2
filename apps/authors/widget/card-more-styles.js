/** The look of what few people open in a card. */
export const moreCss = `
.gated,.gated:hover{background:var(--accent);border-color:var(--accent);color:var(--on-accent)}
.gated[aria-disabled=true]{background:none;border:1px dashed var(--border);color:var(--fg);cursor:default}
.pair>input{flex:9 8em;min-width:0}
.card>pre{max-height:16em;padding:.75em;overflow:auto;overscroll-behavior:contain;white-space:pre-wrap;direction:ltr;
font:.75em/1.5 ui-monospace,"SF Mono","Cascadia Mono","DejaVu Sans Mono",monospace;background:var(--tint);border-radius:calc(var(--r)*.5)}
.card>p+.small{margin-block-start:.5em}
@media (max-width:30em){.card>pre{max-height:9em}}
@media (forced-colors:active){.gated[aria-disabled=true]{color:GrayText}.card>pre{border:1px solid}}
`;
