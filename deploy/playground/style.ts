/** The style sheet of the playground. Colours meet WCAG 2.2 §1.4.3 and §1.4.11 in both themes. */
export const STYLE = `*{box-sizing:border-box}
:root{color-scheme:light dark;--bg:light-dark(#f6f8f7,#0b100e);--card:light-dark(#fff,#121916);--sunk:light-dark(#f1f4f2,#0b100e);--text:light-dark(#14201a,#e8efeb);--soft:light-dark(#526158,#9fb0a6);--key:light-dark(#06613f,#5fd3a1);--on-key:light-dark(#fff,#052016);--tint:light-dark(#e4f3ec,#14291f);--rule:light-dark(#dde4e0,#232d28);--edge:light-dark(#7d8a82,#6f7f76);--line:1px solid var(--rule);--bad:light-dark(#a3201c,#ff9a8f);--bad-bg:light-dark(#fdeeed,#2b1513);--warn:light-dark(#7a4b00,#f0c060);--warn-bg:light-dark(#fdf4e0,#2a2111);--blue:light-dark(#1d4fa8,#8fb6ff);--mono:ui-monospace,"SF Mono",Consolas,monospace}
body{margin:0;background:var(--bg);color:var(--text);font:.875rem/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1rem;margin:0}
h2{font-size:1rem;margin:0 0 .5rem}
h3{font-size:.875rem;margin:.75rem 0 .25rem}
h4{font-size:.8125rem;margin:.75rem 0 .25rem}
p{margin:.25rem 0;white-space:pre-wrap}
ul,ol{list-style:none;margin:0;padding:0}
code,pre,.mono{font-family:var(--mono);font-size:.8125rem;unicode-bidi:isolate}
pre{white-space:pre-wrap;background:var(--sunk);border:var(--line);border-radius:.4rem;padding:.6rem .75rem;margin:.25rem 0;max-height:24rem;overflow:auto;line-height:1.6}
pre.frame{white-space:pre}
small,.soft,.hint{color:var(--soft);font-size:.8125rem}
.bad{color:var(--bad)}
a{color:var(--key)}
[hidden]{display:none!important}
.away{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap}
.skip{position:absolute;left:-99rem}
.skip:focus{left:.5rem;top:.5rem;background:var(--card);padding:.5rem;z-index:9}
:focus-visible{outline:2px solid var(--key);outline-offset:2px}
.grow{flex:1}
fieldset{border:var(--line);border-color:var(--edge);border-radius:.4rem;margin:0;padding:.25rem .75rem .5rem;min-width:0}
fieldset.inline{display:flex;flex-wrap:wrap;gap:.25rem .75rem}
legend{font-weight:600;font-size:.8125rem;padding:0 .25rem}
label{font-weight:600;font-size:.8125rem}
label.check{display:flex;gap:.4rem;align-items:center;font-weight:400;min-height:1.75rem}
input:not([type=checkbox],[type=radio]),textarea,select{font:inherit;width:100%;color:inherit;background:var(--card);border:1px solid var(--edge);border-radius:.4rem;padding:.35rem .6rem;min-height:2.25rem}
textarea.mono{font-family:var(--mono);font-size:.8125rem}
.fields{display:grid;gap:.85rem}
.row{display:grid;gap:.5rem;grid-template-columns:minmax(0,1fr) auto;align-items:end;margin-bottom:.5rem}
.line,.buttons{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem}
.buttons{margin-top:.75rem}
button,summary.button,.menu>summary{font:inherit;color:inherit;background:var(--card);border:var(--line);border-radius:.4rem;padding:.2rem .7rem;min-height:2rem;cursor:pointer}
button:hover,.menu>summary:hover{border-color:var(--edge)}
button.main{background:var(--key);color:var(--on-key);border-color:var(--key);font-weight:600}
button.small{min-height:1.5rem;padding:0 .4rem;font-size:.8125rem}
button:disabled{color:var(--soft);cursor:default}
kbd{font:.6875rem var(--mono);border:1px solid;border-radius:.25rem;padding:0 .3rem;margin-inline-start:.35rem;opacity:.85}
summary{cursor:pointer;padding:.25rem 0}
mark,.tag{font-size:.6875rem;line-height:1.125rem;border-radius:.6rem;padding:0 .5rem;background:var(--tint);color:var(--key);border:1px solid transparent;white-space:nowrap}
.tag.bad,mark.bad{background:var(--bad-bg);color:var(--bad)}
.tag.warn{background:var(--warn-bg);color:var(--warn)}
.seg{display:inline-flex;border:var(--line);border-radius:.4rem;overflow:hidden;padding:0;flex:none}
.seg label{padding:.3rem .6rem;font-weight:400;position:relative;cursor:pointer;white-space:nowrap}
.seg input{position:absolute;inset:0;opacity:0;margin:0;cursor:pointer}
.seg label:has(:checked){background:var(--tint);color:var(--key);font-weight:600}
.seg label:has(:focus-visible){outline:2px solid var(--key);outline-offset:-2px;border-radius:.4rem}
.question{border:1px solid var(--key);background:var(--tint);border-radius:.5rem;padding:1rem;margin:0 0 1rem}
.question h3{margin-top:0}
.notice{border:1px solid var(--key);border-radius:.5rem;padding:.6rem .75rem;margin:.5rem 0}
.failed,.trouble{border:1px solid var(--bad);background:var(--bad-bg);border-radius:.5rem;padding:1rem}
.failed>h3,.trouble>h2{color:var(--bad);margin-top:0}
.trouble ul{list-style:disc;padding-inline-start:1.25rem;margin:.5rem 0}
.result img{max-width:100%;height:auto;border:var(--line)}
.result .line{margin-bottom:.35rem}
.result h3{margin:0}
.failed h3{color:var(--bad)}
.result audio{display:block;max-width:100%}
.linked:not(:empty){border-inline-start:3px solid var(--rule);padding-inline-start:.75rem;margin:.5rem 0}
.log{font:.75rem/1.7 var(--mono);max-height:24rem;overflow:auto}
.log .soft{font-size:.75rem;margin-inline-end:.35rem}
pre .k{color:var(--blue)}
pre .n{color:var(--warn)}
pre .s{color:var(--key)}
#views{position:relative}
#views:has(.menu[open]),#run-bar:has(.menu[open]){z-index:2}
#work .menu{position:relative}
#work .menu>.panel{left:auto;right:0}
#saved>.menu>summary{border-color:transparent;color:var(--soft)}
#run-actions .menu>.panel{top:auto;bottom:calc(100% + .4rem);width:max-content}
.history li button:first-child{width:100%;text-align:start;padding-block:.35rem}
.history small{color:var(--soft)}
.history ol{display:grid;gap:.25rem}
.history .row{margin:0}
.took{block-size:3px;border-radius:2px;background:var(--key)}
.bad>.took{background:var(--bad)}
#exchanges summary{display:flex;flex-wrap:wrap;align-items:center;gap:.15rem .5rem}
#exchanges .facts{margin-inline-start:auto;font-family:var(--mono);font-size:.75rem}
#exchanges .line h3{margin-block:.25rem}
#sign-in-steps:not(:empty){border-top:var(--line);padding-top:.5rem}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.15rem .75rem;margin:.5rem 0}
dt{color:var(--soft);font-size:.8125rem}
dd{margin:0}
header{background:var(--card);border-bottom:var(--line);padding:.4rem 1rem}
header>svg{color:var(--key);flex:none}
body:not(.playground)>header{display:grid;gap:.75rem;padding:1rem}
body:not(.playground)>header form{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;align-items:start}
body:not(.playground)>main{display:grid;gap:1rem;padding:1rem;grid-template-columns:minmax(0,1fr)}
.card{background:var(--card);border:var(--line);border-radius:.6rem;padding:1rem}
#list li button{display:grid;gap:.15rem;width:100%;text-align:start;margin-bottom:.25rem}
#list li button[aria-current]{border-color:var(--key);background:var(--tint)}
.playground{height:100dvh;display:grid;grid-template-columns:minmax(0,1fr);grid-template-rows:auto auto minmax(0,1fr)}
.playground>main{grid-row:-2/-1}
#refused{background:var(--bad-bg);border-bottom:1px solid var(--bad);padding:.5rem 1rem;max-height:30dvh;overflow:auto}
#refused strong{color:var(--bad)}
.playground>header{position:relative;z-index:3;display:flex;align-items:center;gap:.4rem .6rem;min-height:3rem}
#server{white-space:nowrap;overflow:hidden;text-overflow:ellipsis;max-width:22rem;min-width:4rem}
#server span{font-weight:400;margin-inline-start:.35rem}
#address{display:flex;align-items:center;gap:.3rem;min-width:5rem}
#endpoint,#state{white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
#endpoint{color:var(--soft)}
#state{flex:1 1 6rem;min-width:6rem}
.dot{display:inline-block;width:.5rem;height:.5rem;border-radius:50%;background:var(--edge);margin-inline-end:.4rem}
[data-state=connected] .dot{background:var(--key)}
[data-state=failed] .dot{background:var(--bad)}
#settings{display:flex;align-items:center;gap:.5rem}
#more,#tabs{display:none}
.menu{position:relative;flex:none}
.menu>summary{list-style:none;white-space:nowrap;display:flex;align-items:center}
.menu>summary::-webkit-details-marker{display:none}
.menu>summary::after{content:"▾";content:"▾"/"";margin-inline-start:.3rem}
.menu>.panel{position:absolute;right:0;top:calc(100% + .4rem);width:24rem;max-width:calc(100vw - 2rem);max-height:75vh;overflow:auto;background:var(--card);border:1px solid var(--edge);border-radius:.5rem;padding:.75rem 1rem;box-shadow:0 8px 24px #0003;display:grid;gap:.5rem}
.playground>main{display:grid;grid-template-columns:17rem minmax(0,1.15fr) minmax(20rem,.85fr);min-height:0}
.playground>main>*{min-height:0;overflow:auto}
#rail{border-inline-end:var(--line);padding:.75rem}
#rail:has(#catalogue:empty){display:none}
.playground>main:has(#catalogue:empty){grid-template-columns:minmax(0,1.15fr) minmax(20rem,.85fr)}
#find{position:relative}
#find kbd{position:absolute;right:.6rem;top:.6rem;color:var(--soft);pointer-events:none}
#find input:focus+kbd{display:none}
#rail h2{display:flex;justify-content:space-between;font-size:.6875rem;text-transform:uppercase;letter-spacing:.06em;color:var(--soft);margin:1rem .5rem .25rem}
#rail li{content-visibility:auto;contain-intrinsic-size:auto 3.1rem;position:relative;display:grid;grid-template-columns:minmax(0,1fr) auto;gap:0 .5rem;padding:.35rem .5rem;border-radius:.4rem}
#rail li:hover{background:var(--sunk)}
#rail li:has([aria-current]){background:var(--tint);box-shadow:inset 3px 0 var(--key)}
#rail li button{all:unset;cursor:pointer;font:.8125rem/1.5 var(--mono);unicode-bidi:isolate;overflow:hidden;text-overflow:ellipsis}
#rail li button::after{content:"";position:absolute;inset:0;border-radius:.4rem}
#rail li button:focus-visible::after{outline:2px solid var(--key);outline-offset:-2px}
#rail li small{grid-column:1/-1;font-size:.75rem;white-space:nowrap;overflow:hidden;text-overflow:ellipsis}
#rail li .marks{font-size:.6875rem;color:var(--soft);white-space:nowrap;align-self:center}
#rail li .marks.danger{color:var(--bad)}
#rail .heard{color:var(--key)}
#listening>div{display:grid;gap:.25rem;padding:.75rem .5rem 0;justify-items:start}
[aria-pressed=true]{background:var(--tint);color:var(--key)}
progress{display:block;width:100%;height:.4rem;accent-color:var(--key)}
.steps li{display:flex;flex-wrap:wrap;gap:0 .6rem}
.steps .now{font-weight:600}
label small,legend small{font-weight:400}
#tasks{display:block;padding:.75rem .5rem}
#work{background:var(--card);outline-offset:-2px}
#work>*{margin-inline:1.25rem}
#work>.trouble{margin-block:1rem}
#item{padding-top:1rem}
#item h2{font-size:1.125rem;margin:0}
#item .description{margin:.35rem 0 .75rem;max-width:65ch}
#views{display:flex;gap:1rem;align-items:center;border-bottom:var(--line);margin:0!important;padding:0 1.25rem}
#views [role=tablist]{display:flex;gap:1rem}
#views [role=tab]{border:0;border-bottom:2px solid transparent;border-radius:0;padding:0;min-height:2.25rem;background:none;color:var(--soft)}
#views [role=tab][aria-selected=true]{color:var(--text);border-color:var(--key);font-weight:600}
#saved{margin-inline-start:auto}
#call{margin:0!important}
#call>.fields,#call>#definition{padding:1rem 1.25rem}
#run-bar{position:sticky;bottom:0;z-index:1;display:flex;flex-wrap:wrap;gap:.5rem;align-items:center;background:var(--card);border-block:var(--line);padding:.6rem 1.25rem;margin-bottom:1rem}
#run-actions{display:flex;flex-wrap:wrap;gap:.5rem;margin-inline-start:auto}
#output{padding-bottom:1.25rem;min-height:14rem}
#wire{border-inline-start:var(--line);background:var(--card)}
#wire-bar{position:sticky;top:0;z-index:1;display:flex;flex-wrap:wrap;gap:.25rem .6rem;align-items:center;background:var(--card);border-bottom:var(--line);padding:.5rem 1rem}
#wire-bar h2{font-size:.8125rem;margin:0}
#wire-actions{display:flex;flex-wrap:wrap;gap:.5rem;margin-inline-start:auto}
#work>.received{padding-bottom:1rem}
.received h3{margin:0}
.received .seg{flex:initial;flex-wrap:wrap;overflow:visible}
.deliveries>li{border-bottom:var(--line)}
.deliveries summary{display:flex;flex-wrap:wrap;align-items:center;gap:.15rem .5rem}
#exchanges>li{border-bottom:var(--line);padding:.2rem 1rem}
@media(min-width:60rem){main.tasks{grid-template-columns:minmax(0,2fr) minmax(0,3fr)!important;align-items:start}#list{max-height:85vh;overflow:auto}}
@media(max-width:85rem){#server{max-width:14rem}#settings{gap:.4rem}.menu>summary{padding:.2rem .45rem}.seg label{padding:.3rem .45rem}}
@media(62.01rem<=width<=75rem){#address,#latency{display:none}#server{max-width:10rem}}
@media(max-width:62rem){.playground>header{flex-wrap:wrap}#more{display:block}#settings{display:none;flex-wrap:wrap;width:100%}#settings.open{display:flex}#server{flex:1 1 5rem}#state{flex-basis:4rem;min-width:4rem}}
@media(max-width:70rem){.menu{position:static}.menu>.panel{right:auto;left:1rem;top:100%}.playground>main{grid-template-columns:15rem minmax(0,1fr);grid-template-rows:minmax(0,3fr) minmax(0,2fr)}#rail{grid-row:1/3}#wire{border-top:var(--line);border-inline-start:0}#rail:has(#catalogue:empty)~#wire{grid-row:auto}.playground>main:has(#catalogue:empty){grid-template-columns:minmax(0,1fr)}}
@media(max-width:45rem){.playground{grid-template-rows:auto auto auto minmax(0,1fr)}#address,#latency{display:none}#tabs{display:flex;gap:1.25rem;background:var(--card);padding:0 1rem;border-bottom:var(--line)}#tabs button{border:0;border-bottom:2px solid transparent;border-radius:0;background:none;padding:0;min-height:2.75rem;color:var(--soft)}#tabs [aria-current=true]{border-color:var(--key);color:var(--text);font-weight:600}.playground>main{display:block;overflow:auto}.playground>main>*{display:none;border:0;overflow:visible;min-height:100%}body:has(#catalogue:empty) [data-go=rail]{display:none}[data-tab=rail]>#rail:not(:has(#catalogue:empty)),[data-tab=work]>#work,[data-tab=wire]>#wire{display:block!important}button,.seg label,.menu>summary{min-height:2.5rem}button.small{min-height:1.75rem}#rail li .marks{max-width:9rem;white-space:normal;text-align:end}}
@media(forced-colors:active){#rail li:has([aria-current]),#tabs [aria-current=true],.seg label:has(:checked),[aria-selected=true],#list [aria-current]{outline:2px solid Highlight;outline-offset:-3px}.dot{forced-color-adjust:none}mark,.tag{border-color:currentColor}}
@media(prefers-reduced-motion:no-preference){[data-state=connecting] .dot{animation:pulse 1s infinite alternate}@keyframes pulse{to{opacity:.35}}}`
