// What browsers have and the compiler's own declarations lack.
declare var trustedTypes: undefined | { createPolicy(name: string, rules: { createHTML: (text: string) => string }): { createHTML: (text: string) => string } }
