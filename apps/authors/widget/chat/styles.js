/** The look of the chat, after the look of the cards. */
export const chatCss = `
:host([data-inline]){position:relative!important;z-index:auto!important;display:block!important;height:100%!important}
svg{width:1em;height:1em;flex:none;fill:none;stroke:currentColor;stroke-width:1.75;stroke-linecap:round;stroke-linejoin:round}
:host([data-inline]) .frame{height:100%;min-height:20em}
.launcher{position:fixed;width:3.5em;height:3.5em;display:grid;place-items:center;border-radius:50%;background:var(--accent);color:var(--on-accent);
box-shadow:0 1px 2px #0000001f,0 6px 20px #00000033;transition:transform .12s}
.launcher:hover{transform:translateY(-1px)}
.launcher svg{width:1.5em;height:1.5em;stroke-width:1.4}
.dot{position:absolute;top:.15em;inset-inline-end:.15em;width:.85em;height:.85em;border-radius:50%;background:#c2410c;border:2px solid var(--bg)}
[data-at^=bottom] .launcher{bottom:var(--y)}
[data-at^=top] .launcher{top:var(--y)}
.panel{position:fixed;display:flex;flex-direction:column;width:min(24em,100vw - 2*var(--x));height:min(43em,100vh - 2*var(--y) - 4.25em);
background:var(--bg);border:1px solid var(--line);border-radius:var(--r);box-shadow:0 1px 2px #0000001a,0 16px 56px #00000033;overflow:hidden;overflow-wrap:anywhere;animation:rise .18s ease-out}
[data-at^=bottom] .panel{bottom:calc(var(--y) + 4.25em)}
[data-at^=top] .panel{top:calc(var(--y) + 4.25em)}
:host([data-inline]) .panel{position:static;width:100%;height:100%;box-shadow:none;animation:none}
.top{display:flex;align-items:center;gap:.15em;min-height:3.25em;padding-inline:1em .5em;border-block-end:1px solid var(--line)}
.title{flex:1;font-weight:600}
.tool{display:grid;place-items:center;width:2.75em;height:2.75em;color:var(--muted)}
.tool:hover,.item:hover{background:var(--tint);color:var(--fg)}
.about{position:relative}
.about>.tool svg{stroke-width:2.75}
.menu{position:absolute;z-index:2;top:100%;inset-inline-end:0;width:max-content;max-width:18em;padding:.35em;background:var(--bg);border:1px solid var(--line);border-radius:calc(var(--r)*.75);box-shadow:0 8px 28px #00000033}
.menu .small{padding:.35em .7em .5em}
.item{display:block;width:100%;min-height:44px;padding:.4em .7em}
.banner:empty{display:none}
.banner{padding:.5em 1em;font-size:.8125em;background:var(--tint);border-block-end:1px solid var(--line)}
.content,.talk,.view,.gate-view{flex:1;min-height:0;display:flex;flex-direction:column}
.scroll{flex:1 0 3.5em;min-height:3.5em;display:flex;flex-direction:column}
.log{flex:1;overflow:auto;overscroll-behavior:contain;padding:1em;display:flex;flex-direction:column;gap:.75em}
.log:focus-visible{outline-offset:-3px}
.message{display:flex;flex-direction:column;max-width:100%;animation:rise .16s ease-out}
.message p,.message li{white-space:pre-wrap}
.body>*+*{margin-block-start:.6em}
.body ul,.body ol{padding-inline-start:1.4em}
.body li+li{margin-block-start:.2em}
.author{align-self:flex-end;align-items:flex-end;max-width:85%}
.author .body{padding:.55em .9em;border-radius:calc(var(--r)*1.15);border-end-end-radius:calc(var(--r)*.3);background:var(--accent);color:var(--on-accent)}
code,pre{font:.875em/1.45 ui-monospace,"SF Mono","Cascadia Mono","DejaVu Sans Mono",monospace}
code{padding:.1em .3em;border-radius:4px;background:var(--tint)}
pre{padding:.75em;border-radius:calc(var(--r)*.5);background:var(--tint);overflow:auto;white-space:pre-wrap}
[data-streaming] .body>p:last-child::after{content:"";display:inline-block;width:.45em;height:1em;margin-inline-start:.2em;vertical-align:-.15em;background:currentColor;opacity:.55;animation:blink 1s steps(2) infinite}
.foot{display:flex;flex-wrap:wrap;gap:.6em;align-items:center;margin-block-start:.25em;font-size:.8125em;color:var(--muted)}
.foot:empty{display:none}
.foot .link{color:var(--fg);min-height:28px}
.note{align-self:center;text-align:center;font-size:.8125em;color:var(--muted)}
.typing{display:flex;gap:.3em;padding-block:.4em}
.typing i{width:.45em;height:.45em;border-radius:50%;background:var(--muted);animation:nod 1.2s infinite}
.typing i:nth-child(2){animation-delay:.15s}
.typing i:nth-child(3){animation-delay:.3s}
.jump{flex:none;align-self:center;width:2.25em;height:2.25em;margin-block:.3em;display:grid;place-items:center;border-radius:50%;background:var(--bg);border:1px solid var(--border);box-shadow:0 2px 8px #00000026}
.slot{overflow:auto}
.slot .card{position:relative;inset:auto;width:auto;max-height:none;margin:0 .75em .75em;box-shadow:none;border-color:var(--border)}
.composer{display:flex;align-items:flex-end;gap:.4em;margin:0 .75em;padding:.25em;border:1px solid var(--border);border-radius:calc(var(--r)*1.1)}
.composer:focus-within{border-color:var(--accent);box-shadow:0 0 0 1px var(--accent)}
textarea{flex:1;min-width:0;max-height:9em;min-height:2.5em;padding:.5em .6em;border:0;background:none;resize:none}
textarea:focus-visible{outline:0}
::placeholder{color:var(--muted);opacity:1}
.send{display:grid;place-items:center;width:2.75em;height:2.75em;min-width:44px;min-height:44px;border-radius:calc(var(--r)*.85);background:var(--accent);color:var(--on-accent)}
.send[aria-disabled=true]{background:none;color:var(--muted);cursor:default}
.notice{padding:.45em 1em .7em;text-align:center;font-size:.75em;color:var(--muted)}
.view{padding:1em;overflow:auto}
.view pre{flex:1}
.gate-view{overflow:auto;justify-content:space-between;gap:1em}
.gate-view>.body{padding:1em}
.gate-view .card{position:static;width:auto;max-height:none;border-width:1px 0 0;border-radius:0;box-shadow:none;flex:none}
.gate-view .pair{flex-direction:column}
@keyframes rise{from{opacity:0;transform:translateY(6px)}}
@keyframes blink{50%{opacity:0}}
@keyframes nod{0%,60%,100%{opacity:.35}30%{opacity:1}}
@media (max-width:30em){
.panel{inset:0!important;width:100%;height:100dvh;border:0;border-radius:0}
.panel:not([hidden])+.launcher{display:none}
.frame{font-size:max(1em,16px)}
}
@media (prefers-reduced-motion:reduce){*{animation:none!important;transition:none!important}}
@media (max-height:26em){.notice{display:none}.top{min-height:2.5em}}
@media (forced-colors:active){.launcher,.send,.author .body{border:1px solid ButtonText}}
`;
