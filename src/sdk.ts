/** Serves a whole server of an official SDK, v1 or v2, which is an optional peer dependency. */

export {
  type FromSdkOptions,
  fromSdk,
  type SdkContext,
  type SdkServer,
  type SdkServerFactory,
} from './sdk/from-sdk.ts'
export type { GuardedNames } from './sdk/guarded.ts'
export type { HostedConfig, HostedServer } from './sdk/host.ts'
