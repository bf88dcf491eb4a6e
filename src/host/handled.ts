/** Of work that goes on while something else is awaited first: if it fails before its turn has come, that is heard when it is awaited, and not before. */
export function handled<T>(work: Promise<T>): Promise<T> {
  work.catch(() => {});
  return work;
}
