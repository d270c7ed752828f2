/**
 * Stores a value as the newest one of a bounded map: of `most` others, the oldest leaves. A key that is there already takes no place of
 * another.
 */
export function setNewest<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, most: number): void {
  map.delete(key)
  if (map.size >= most) map.delete(map.keys().next().value!)
  map.set(key, value)
}
