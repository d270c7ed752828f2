/** Ends `npm test`: says which suites it has not run, and what runs them. */
const SUITES = {
  'test:long':
    'work that grows faster than its input, clients of hostile servers, tasks that crash at any write, in memory',
  'test:cli': 'the command line in full',
  'test:package': 'the packed package, and what init writes',
  'test:browser': 'the pages in Chromium',
  'test:runtimes': 'each platform’s runtime and tools, buses, stores, tasks that crash',
  'test:newcomer': 'every printed command, from an empty folder',
  'test:others': 'other people’s frameworks, clients, vector stores and deploy tools',
  'test:frameworks': 'Next.js, SvelteKit, Nuxt, Astro, Elysia, Express',
}

console.log('Not run:')
for (const [script, what] of Object.entries(SUITES)) console.log(`  npm run ${script.padEnd(16)} ${what}`)
console.log('  npm run test:all         all of these (CONTRIBUTING.md says which change needs which)')
