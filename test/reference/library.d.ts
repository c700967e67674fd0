/** What the reference cases need of the library, from the built modules below `root`, a URL that ends with a slash. */
export function loadLibrary(root: URL): Promise<Readonly<Record<string, unknown>>>;
