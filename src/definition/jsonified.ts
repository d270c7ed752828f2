/**
 * What JSON makes of a value: the type of what a step hands out.
 */

/** `Value` after `JSON.parse(JSON.stringify(value))`: a `Date` is a string, a method is gone. `undefined` by itself stays. */
export type Jsonified<Value> = unknown extends Value
  ? Value
  : Value extends { toJSON(): infer Json }
    ? Jsonified<Json>
    : Value extends string | number | boolean | null | undefined
      ? Value
      : Value extends Unwritten
        ? never
        : Value extends readonly unknown[]
          ? { [Index in keyof Value]: JsonElement<Value[Index]> }
          : {
              [Key in keyof Value as Key extends string ? WrittenKey<Key, Value[Key]> : never]: Jsonified<
                Value[Key]
              >
            }

/** What JSON leaves out of objects, and refuses or makes `null` of elsewhere. */
// biome-ignore lint/suspicious/noExplicitAny: only `any` takes the parameters of every function.
type Unwritten = bigint | symbol | ((...args: any) => unknown)

type WrittenKey<Key, Value> = Value extends Unwritten ? never : Key

type JsonElement<Element> = Element extends undefined | Unwritten ? null : Jsonified<Element>
