/** `__filename` and `__dirname` of the user's own files, which a bundle that is an ES module does not have. */
import { readFileSync } from 'node:fs'
import { extname, sep } from 'node:path'
import type { Loader, Plugin } from 'esbuild'

const LOADERS: { readonly [extension: string]: Loader } = {
  '.ts': 'ts',
  '.mts': 'ts',
  '.cts': 'ts',
  '.tsx': 'tsx',
  '.jsx': 'jsx',
}

const NAMES = ['__filename', '__dirname'] as const

export type FileNames = { readonly [name in (typeof NAMES)[number]]: string }

/** Declares the names in each file that uses them and does not declare them itself. @param valuesOf Expressions, for a file's path. */
export function fileNames(valuesOf: (path: string) => FileNames): Plugin {
  return {
    name: 'mayfly-file-names',
    setup(build) {
      build.onLoad({ filter: /\.[cm]?[jt]sx?$/, namespace: 'file' }, ({ path }) => {
        if (path.includes(`${sep}node_modules${sep}`)) return undefined
        const text = readFileSync(path, 'utf8')
        const used = NAMES.filter((name) => isUsed(text, name))
        if (used.length === 0) return undefined
        const values = valuesOf(path)
        const declared = `var ${used.map((name) => `${name} = ${values[name]}`).join(', ')};`
        // On the first line, so that errors name the right one.
        const contents = `${declared}${text.startsWith('#!') ? '//' : ''}${text}`
        return { contents, loader: LOADERS[extname(path)] ?? 'js' }
      })
    },
  }
}

function isUsed(text: string, name: string): boolean {
  if (!text.includes(name)) return false
  return !new RegExp(`\\b(?:const|let|var|function|class|import)\\b[^;=]{0,200}\\b${name}\\b`).test(text)
}
