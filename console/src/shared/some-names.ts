/** Returns a list of names for a sentence; of a long one its first names, and how many more there are. */
export function someNames(names: readonly string[], atMost = 3): string {
  const shown = names.slice(0, atMost).join(', ');
  return names.length > atMost ? `${shown} and ${names.length - atMost} more` : shown;
}
