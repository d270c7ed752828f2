/**
 * Code at the top of a built server for Node: what is thrown and not caught is one line with its place, and the stack once the server is
 * loaded. Node itself would first print the line of minified code, 80 KB, in which a pipe may lose the message.
 */

/** Needs the `require` of `NODE_BANNER`. A handler of the user's own takes over. The first of several files sets it up for all. */
export const LOAD_BANNER: string = [
  `const mayflyLoad=globalThis[Symbol.for('mayfly.load')]??=(()=>{`,
  `const load={isLoaded:false};`,
  `process.on('uncaughtException',(error)=>{`,
  `if(process.listenerCount('uncaughtException')>1)return;`,
  `const {readFileSync,writeSync}=require('node:fs');`,
  `let text='an error without a text',stack='',place='';`,
  `try{const isError=error instanceof Error;`,
  `text=(isError?error.name+': '+error.message:'Error: '+String(error)).replace(/\\s+/g,' ').slice(0,500);`,
  `if(load.isLoaded&&isError)stack=String(error.stack)+'\\n'}catch{}`,
  `try{`,
  `const maps={},{SourceMap}=require('node:module');`,
  `const entryOf=([,file,row,column])=>{try{`,
  `return (maps[file]??=new SourceMap(JSON.parse(readFileSync(new URL(file+'.map',import.meta.url),'utf8')))).findEntry(row-1,column-1)`,
  `}catch{return {}}};`,
  `const frames=[...String(error.stack).matchAll(/([^/\\\\]+\\.mjs):(\\d+):(\\d+)/g)].map(entryOf).filter((entry)=>entry.originalSource);`,
  `const {originalSource,originalLine,originalColumn}=frames.find((entry)=>!/node_modules|^mayfly(?:-main)?:/.test(entry.originalSource))??frames[0];`,
  `place=' ('+originalSource.replace(/^(?:\\.\\.\\/)+/,'')+':'+(originalLine+1)+':'+(originalColumn+1)+')'`,
  `}catch{}`,
  `try{writeSync(2,(load.isLoaded?'uncaught ':'cannot load the server: ')+text+place+'\\n'+stack)}catch{}`,
  `process.exit(1)});`,
  `return load})();`,
].join('')

/** The first statement after all imports. */
export const LOADED = 'mayflyLoad.isLoaded = true\n'
