/** `mayfly build`: for a platform, or as a desktop bundle. */

/** Throws `CliError` if the build fails. */
export async function buildCommand(args: string[]): Promise<number> {
  const isBundle = args.some(
    (arg, at) => arg === '--target=mcpb' || (arg === 'mcpb' && args[at - 1] === '--target'),
  )
  return isBundle
    ? (await import('./mcpb/build.ts')).buildMcpb(args)
    : (await import('./build.ts')).build(args)
}
