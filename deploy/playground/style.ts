/** The style sheet of the playground. Colours meet WCAG 2.2 §1.4.3 in both themes. */
export const STYLE = `*{box-sizing:border-box}
:root{color-scheme:light dark;--bg:light-dark(#f3f6f4,#0c1210);--card:light-dark(#fff,#151c19);--soft:light-dark(#4a5a4f,#a3b3a9);--key:light-dark(#064,#6da);--on-key:light-dark(#fff,#062018);--line:1px solid light-dark(#8a968f,#5d6b64);--bad:light-dark(#a21,#f98)}
body{margin:0;background:var(--bg);color:light-dark(#122,#eee);font:16px/1.5 system-ui,sans-serif;overflow-wrap:anywhere}
h1{font-size:1.25rem;margin:0}
h2{font-size:1.1rem;margin:0 0 .5rem}
h3{font-size:1rem;margin:1rem 0 .25rem}
h4{font-size:.9rem;margin:.75rem 0 .25rem}
p{margin:.25rem 0;white-space:pre-wrap}
ul,ol{list-style:none;margin:0;padding:0}
code,pre,.mono{font-family:ui-monospace,Consolas,monospace;font-size:.85rem;unicode-bidi:isolate}
pre{white-space:pre-wrap;background:var(--bg);border:var(--line);border-radius:.4rem;padding:.5rem;margin:.25rem 0;max-height:24rem;overflow:auto}
small,.soft,.hint{color:var(--soft);font-size:.85rem}
.bad,.failed>h3{color:var(--bad)}
a{color:var(--key)}
[hidden]{display:none!important}
.skip{position:absolute;left:-99rem}
.skip:focus{left:0;top:0;background:var(--card);padding:.5rem;z-index:1}
:focus-visible{outline:3px solid var(--key);outline-offset:1px}
header,.card{background:var(--card);border:var(--line);border-radius:.6rem;padding:1rem}
header{border-radius:0;border-width:0 0 1px;display:grid;gap:.75rem}
header>*{max-width:100%}
header form{display:flex;flex-wrap:wrap;gap:.5rem 1.5rem;align-items:start}
main{display:grid;gap:1rem;padding:1rem;grid-template-columns:minmax(0,1fr)}
fieldset{border:var(--line);border-radius:.4rem;margin:0;padding:.25rem .75rem .5rem;min-width:0}
fieldset.inline{display:flex;flex-wrap:wrap;gap:.25rem .75rem}
legend{font-weight:600;font-size:.9rem;padding:0 .25rem}
label{font-weight:600;font-size:.9rem}
label.check{display:inline-flex;gap:.4rem;align-items:center;font-weight:400;margin-right:1rem;min-height:1.75rem}
input:not([type=checkbox],[type=radio]),textarea,select{font:inherit;width:100%;color:inherit;background:var(--bg);border:var(--line);border-radius:.4rem;padding:.35rem .5rem;min-height:2.25rem}
textarea.mono{font-family:ui-monospace,Consolas,monospace;font-size:.85rem}
.fields{display:grid;gap:.75rem}
.row{display:grid;gap:.5rem;grid-template-columns:minmax(0,1fr) auto;align-items:end;margin-bottom:.5rem}
.buttons{display:flex;flex-wrap:wrap;gap:.5rem;margin-top:.75rem}
button{font:inherit;font-size:.9rem;color:var(--key);background:var(--card);border:var(--line);border-radius:.4rem;padding:.3rem .75rem;min-height:2.25rem;cursor:pointer}
button.main{background:var(--key);color:var(--on-key);border-color:var(--key);font-weight:600}
button:disabled{color:var(--soft);cursor:default}
nav section,nav .field{margin-bottom:1rem}
h2 code{font-size:1em}
h2+button{float:inline-end;margin-top:-2.4rem}
nav ul button{display:block;width:100%;text-align:start;border-color:transparent;background:none;font-family:ui-monospace,Consolas,monospace;font-size:.85rem}
nav ul button:hover,nav ul button[aria-current]{background:var(--bg);border-color:var(--key)}
summary{cursor:pointer;padding:.25rem 0}
mark{background:none;color:inherit;border:var(--line);border-radius:1rem;padding:0 .5rem;font-size:.8rem;margin-right:.25rem}
.question,.notice{border:2px solid var(--key);border-radius:.6rem;padding:.75rem;margin:1rem 0}
.result img{max-width:100%;height:auto;border:var(--line)}
#list li button{display:grid;gap:.15rem;width:100%;text-align:start;margin-bottom:.25rem;color:inherit}
#list li button[aria-current]{border-color:var(--key);background:var(--bg)}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:.15rem .75rem;margin:.5rem 0}
dt{color:var(--soft);font-size:.9rem}
dd{margin:0}
#exchanges>li{border-top:var(--line)}
#exchanges>li:first-child{border-top:0}
#authorization>*+*{margin-top:.5rem}
@media(min-width:60rem){main{grid-template-columns:16rem minmax(0,1fr) minmax(0,1fr);align-items:start}nav{max-height:80vh;overflow:auto}main.tasks{grid-template-columns:minmax(0,2fr) minmax(0,3fr)}#list{max-height:85vh;overflow:auto}}`
