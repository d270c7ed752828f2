/** The licences of the packages that are a part of our files, which have to come along with them. */
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

const TITLE = 'The files of this package contain code of these packages: the command line, and sign-in.'

/** Throws for a package without a licence. */
export function notices(root, output) {
  const files = output.flatMap((chunk) => Object.keys(chunk.modules ?? {}))
  const folders = files.flatMap(
    (file) => /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(file)?.[0] ?? [],
  )
  const parts = [...new Set(folders)].sort().map((folder) => {
    const { name, version } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
    const licence = readdirSync(folder).find((file) => /^licen[cs]e/i.test(file))
    if (licence === undefined)
      throw new Error(`${relative(root, folder)} has no licence, and ${dirname(files[0])} contains it`)
    return `${name} ${version}\n\n${readFileSync(join(folder, licence), 'utf8').trim()}\n`
  })
  return `${[TITLE, ...parts].join(`\n${'-'.repeat(80)}\n`)}`
}
