// Chromium without a language of its own, as in a container, has one that `Intl` refuses (`en-US@posix`). Libraries that format
// numbers in the language of the browser would fail as they are loaded.
if (!isKnown(navigator.language)) Object.defineProperty(navigator, 'language', { value: 'en-US' });

function isKnown(language: string): boolean {
  try {
    return Intl.getCanonicalLocales(language).length > 0;
  } catch {
    return false;
  }
}
