/** The one style of the pages, in the colours of the landing page. */

export const STYLE = `*{margin:0;box-sizing:border-box}
:root{color-scheme:light dark;--bg:light-dark(#f3f6f4,#0c1210);--card:light-dark(#fff,#151c19);--soft:light-dark(#565,#9a9);--key:light-dark(#064,#6da);--bad:light-dark(#a21,#f98);--line:1px solid #8883}
body{background:linear-gradient(#0a62,#0000 16rem)no-repeat var(--bg);color:light-dark(#122,#eee);font:100%/1.5 system-ui,sans-serif;overflow-wrap:anywhere;min-height:100vh;display:grid;grid-template-columns:minmax(0,1fr);align-content:center}
main{width:100%;max-width:32rem;margin:auto;padding:2rem 1rem;display:grid;grid-template-columns:minmax(0,1fr);gap:1.25rem}
h1{font-size:1.5rem;line-height:1.25;text-wrap:balance}
h2{font-size:1rem}
a{color:var(--key)}
ul{list-style:none;padding:0}
code{font-family:ui-monospace,Consolas,monospace;font-size:.875em;unicode-bidi:isolate}
small,.soft{color:var(--soft);font-size:.875rem}
header{display:grid;grid-template-columns:minmax(0,1fr);justify-items:center;gap:.75rem;text-align:center}
.pair{display:flex;max-width:100%;justify-content:center;align-items:center;gap:.75rem}
.pair i{flex:0 1 2.5rem;border-top:3px dotted var(--soft)}
.pair b,.who b{display:grid;place-items:center;flex:none;width:3.5rem;height:3.5rem;border:var(--line);border-radius:1rem;background:var(--card);color:var(--key);font-size:1.75rem;line-height:1}
.pair i+b{background:var(--key);color:var(--bg)}
.pair .bad{color:var(--bad);border-color:var(--bad)}
.bad{color:var(--bad)}
.card{background:var(--card);border:var(--line);border-radius:1rem}
.card>*{padding:1rem 1.25rem}
.card>*+*{border-top:var(--line)}
.who{display:flex;flex-wrap:wrap;align-items:center;gap:.5rem .75rem}
.who b{width:2.5rem;height:2.5rem;border-radius:50%;font-size:1.125rem;background:var(--bg)}
.who p{flex:1;min-width:min(9rem,100%)}
.who small,.from>small{display:block}
.scopes li{padding-left:1.75rem;position:relative}
.scopes li+li,.from *+small,h2+*,p+.scopes{margin-top:.375rem}
.scopes li::before{content:"";position:absolute;left:.375rem;top:.25em;width:.375rem;height:.75rem;border:solid var(--key);border-width:0 .1875rem .1875rem 0;transform:rotate(45deg)}
.note{border-left:.25rem solid var(--bad);padding-left:.75rem}
form.pick,form.go{display:grid;gap:.75rem}
.go{grid-template-columns:repeat(auto-fit,minmax(min(8rem,100%),1fr))}
button,.button{display:block;font:inherit;font-weight:600;text-align:center;text-decoration:none;color:var(--key);background:var(--card);border:1px solid;border-radius:.75rem;padding:.625rem 1rem;min-height:2.75rem;cursor:pointer}
button:hover,.button:hover{text-decoration:underline}
.main{background:var(--key);color:var(--bg);border-color:var(--key)}
.plain{min-height:0;padding:.375rem .75rem;font-size:.875rem}
.person{display:flex;width:100%;padding:1rem 1.25rem;border:0;text-align:left;color:inherit;background:0;font-weight:400;border-radius:1rem}
.card>.none{padding:0}
label{font-weight:600;font-size:.875rem}
input{display:block;width:100%;font:inherit;margin-top:.25rem;color:inherit;background:var(--bg);border:1px solid #8888;border-radius:.75rem;padding:.625rem .75rem}
.said{border:1px solid var(--key);border-radius:.75rem;padding:.625rem 1rem;color:var(--key)}
:focus-visible{outline:3px solid var(--key);outline-offset:2px}
.main:focus-visible{outline-color:light-dark(#122,#eee)}
@media(forced-colors:active){.scopes li::before{border-color:CanvasText}.main{border-width:3px}}`

/** The hash of STYLE, recomputed by a unit test. */
export const STYLE_HASH = 'sha256-ZTId2bbaAMms6JRSCRWoMBqDmujWGVI/8xTI9VgInvE='
