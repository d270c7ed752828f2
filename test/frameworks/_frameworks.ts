/** The frameworks of docs/frameworks.md: where the lines of the page go, what else the app needs, and what starts it. */

export interface Framework {
  /** The heading of its lines. */
  readonly title: string
  /** Below this one. */
  readonly folder: string
  /** Where the lines go: the page names the same file. */
  readonly file: string
  /** The smallest app around them, by path. */
  readonly app: { readonly [path: string]: string }
  /** Starts it, with the free port. */
  readonly start: (port: number) => readonly [command: string, ...args: string[]]
}

const port = (value: number): string => String(value)

export const FRAMEWORKS: readonly Framework[] = [
  { title: 'Express', folder: 'express', file: 'app.ts', app: {}, start: () => ['node', 'app.ts'] },
  { title: 'Elysia', folder: 'elysia', file: 'app.ts', app: {}, start: () => ['bun', 'app.ts'] },
  {
    title: 'Next.js',
    folder: 'nextjs',
    file: 'app/mcp/route.ts',
    app: {
      'app/layout.js': 'export default ({ children }) => <html><body>{children}</body></html>\n',
      'app/page.js': 'export default () => <p>The app</p>\n',
    },
    start: (at) => ['next', 'dev', '--port', port(at), '--hostname', '127.0.0.1'],
  },
  {
    title: 'SvelteKit',
    folder: 'sveltekit',
    file: 'src/routes/mcp/+server.ts',
    app: {
      'src/app.html': '<html><head>%sveltekit.head%</head><body>%sveltekit.body%</body></html>\n',
      'src/routes/+page.svelte': '<p>The app</p>\n',
      'vite.config.js': `import { sveltekit } from '@sveltejs/kit/vite'\nexport default { plugins: [sveltekit()] }\n`,
    },
    start: (at) => ['vite', 'dev', '--port', port(at), '--host', '127.0.0.1', '--strictPort'],
  },
  {
    title: 'Nuxt',
    folder: 'nuxt',
    file: 'server/routes/mcp.ts',
    app: {
      'app.vue': '<template><p>The app</p></template>\n',
      'nuxt.config.ts': `export default { telemetry: false, compatibilityDate: '2026-01-01', devtools: { enabled: false } }\n`,
    },
    start: (at) => ['nuxt', 'dev', '--port', port(at), '--host', '127.0.0.1', '--no-fork'],
  },
  {
    title: 'Astro',
    folder: 'astro',
    file: 'src/pages/mcp.ts',
    app: {
      'src/pages/index.astro': '<p>The app</p>\n',
      'astro.config.mjs': `import node from '@astrojs/node'\nexport default { adapter: node({ mode: 'standalone' }), devToolbar: { enabled: false } }\n`,
    },
    start: (at) => ['astro', 'dev', '--port', port(at), '--host', '127.0.0.1'],
  },
]
