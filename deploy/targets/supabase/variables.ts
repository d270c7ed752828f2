/**
 * The secrets of a Supabase project are the variables of all its functions, so those of a function begin with its name: `SHOP__API_TOKEN` is
 * `API_TOKEN` in the function `shop`.
 */

/** Supabase keeps names with its own for itself, and a digit cannot begin a name. No name of a function begins with what goes before them. */
const UNUSABLE = /^(?:\d|SUPABASE_)/

/**
 * What the names of the function's variables begin with. Names of functions have single dashes inside, so no prefix is the beginning of
 * another one's variables, as `SHOP_` is of `SHOP_ADMIN_TOKEN`.
 */
export function variablePrefix(functionName: string): string {
  const prefix = `${functionName.toUpperCase().replace(/[^A-Z0-9]/g, '_')}__`
  return UNUSABLE.test(prefix) ? `_${prefix}` : prefix
}

/** The variables of the function, as the project has them. */
export function toProjectVariables(
  functionName: string,
  variables: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const prefix = variablePrefix(functionName)
  return new Map([...variables].map(([name, value]) => [prefix + name, value]))
}

/**
 * Source that runs before all other code of the function, so that it reads its own variables by their plain names, also while it loads.
 * Variables without the prefix stay, for what the functions of the project share on purpose. The runtime does not support `Deno.env.set`.
 */
export function readOwnVariables(functionName: string): string {
  const prefix = JSON.stringify(variablePrefix(functionName))
  return `import mayflyProcess from 'node:process';
{
  const all = Deno.env.toObject(), own = { ...all };
  for (const name of Object.keys(all)) if (name.length > ${prefix}.length && name.startsWith(${prefix})) own[name.slice(${prefix}.length)] = all[name];
  Deno.env.get = (name) => Object.hasOwn(own, name) ? own[name] : undefined;
  Deno.env.has = (name) => Object.hasOwn(own, name);
  Deno.env.toObject = () => ({ ...own });
  for (const one of new Set([mayflyProcess, globalThis.process])) if (one) Object.defineProperty(one, 'env', { value: own, writable: true, enumerable: true, configurable: true });
}`
}
