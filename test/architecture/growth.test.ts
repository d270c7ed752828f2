/** test/property/growth.test.ts measures every reader of a stranger's bytes: none is forgotten. */
import ts from 'typescript'
import { expect, it } from 'vitest'
import { FOLDERS, MODULES } from '../property/_growth-modules.ts'
import { type Module, readModules } from './_modules.ts'

const TYPES = /^(?:string(?: \| (?:null|undefined))*|unknown|Uint8Array.*|Headers|Request|Params|Json)$/

function readsInput({ source }: Module): boolean {
  return source.statements.some(
    (statement) =>
      ts.isFunctionDeclaration(statement) &&
      statement.modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword) &&
      statement.parameters.some(({ type }) => TYPES.test(type?.getText() ?? '')),
  )
}

it('the list has every module that exports a function of text, bytes or anything, or says why not', () => {
  const files = FOLDERS.flatMap(readModules)
    .filter(readsInput)
    .map(({ file }) => file)
  const listed = MODULES.map(([file]) => file)
  expect(files.filter((file) => !listed.includes(file))).toEqual([])
  expect(listed.filter((file, index) => !files.includes(file) || listed.indexOf(file) !== index)).toEqual([])
})
