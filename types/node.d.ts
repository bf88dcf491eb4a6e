declare var process: { readonly env: Record<string, string | undefined> };
