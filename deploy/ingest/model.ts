/** The embedding model of `--model`. */
import { resolve } from 'node:path'
import { textOf } from '../../src/definition/error-text.ts'
import { type EmbeddingModel, toEmbed } from '../../src/retrieval/embed.ts'
import { CliError, printable } from '../terminal/cli-error.ts'
import { loadDefault } from './module.ts'
import { type Place, pathIn } from './place.ts'

export interface LoadedModel {
  /** Part of each chunk's id. */
  readonly id: string
  embed(texts: readonly string[]): Promise<number[][]>
}

/** Throws `CliError` if the module does not export a model. */
export async function loadModel({ cwd, root }: Place, name: string): Promise<LoadedModel> {
  const isNamed = name.startsWith('openai/')
  const model = (isNamed ? name : await loadDefault(cwd, name, 'an embedding model')) as EmbeddingModel
  try {
    const embed = toEmbed(model)
    // A model of the AI SDK has an id; a function is identified by its file, however it is spelled.
    const { modelId } = model as { modelId?: unknown }
    const id = typeof modelId === 'string' ? modelId : isNamed ? name : pathIn(root, resolve(cwd, name))
    return { id, embed: (texts) => embed(texts, { env: process.env }) }
  } catch (error) {
    throw new CliError(`${printable(name)}: ${textOf(error)}`)
  }
}
