/**
 * Models by name, `google/gemini-embedding-001`: those of the AI SDK's package for the provider, `@ai-sdk/google`, which is loaded when
 * the model is first used, and reads its own key.
 */
import type { AiSdkEmbeddingModel, AiSdkLanguageModel } from './ai-sdk.ts'

/** `<provider>/<model>`. */
export type ModelName = `${string}/${string}`

const NAME = /^([a-z][a-z0-9-]*)\/(.+)$/

/** The parts of a name; undefined for anything else. */
export function readModelName(name: unknown): { provider: string; model: string } | undefined {
  const [, provider, model] = (typeof name === 'string' && NAME.exec(name.trim())) || []
  return provider === undefined ? undefined : { provider, model: model! }
}

interface Provider {
  languageModel(id: string): AiSdkLanguageModel
  embeddingModel?(id: string): AiSdkEmbeddingModel
  textEmbeddingModel?(id: string): AiSdkEmbeddingModel
}

/** @throws Error that names the package, if it is not installed or has no such models. */
export async function loadEmbeddingModel(name: string): Promise<AiSdkEmbeddingModel> {
  const { provider, model } = await loadProvider(name)
  const made = provider.embeddingModel?.(model) ?? provider.textEmbeddingModel?.(model)
  if (made === undefined) throw new Error(`The package for the model "${name}" has no embedding models.`)
  return made
}

/** The same. */
export async function loadLanguageModel(name: string): Promise<AiSdkLanguageModel> {
  const { provider, model } = await loadProvider(name)
  return provider.languageModel(model)
}

async function loadProvider(name: string): Promise<{ provider: Provider; model: string }> {
  const { provider, model } = readModelName(name)!
  // In a variable, so that bundlers do not look for packages that most servers do not have.
  const packageName = `@ai-sdk/${provider}`
  let loaded: object
  try {
    loaded = await import(/* webpackIgnore: true */ /* @vite-ignore */ packageName)
  } catch (cause) {
    throw new Error(
      `The model "${name}" needs the package ${packageName}, which cannot be loaded here: install it, or pass the model itself, which also works in a bundle.`,
      { cause },
    )
  }
  const found = Object.values(loaded).find(isProvider)
  if (found === undefined) throw new Error(`${packageName} exports no provider: pass the model itself.`)
  return { provider: found, model }
}

/** The provider with the key of the environment, `google`; not the function that makes one, `createGoogle`. */
function isProvider(value: unknown): value is Provider {
  return typeof (value as Partial<Provider> | undefined)?.languageModel === 'function'
}
