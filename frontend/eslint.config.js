import { readdirSync } from "node:fs"
import hooks from "eslint-plugin-react-hooks"
import globals from "globals"
import ts from "typescript-eslint"

// Of the folder itself: a new feature is bound by the rule from its first file on.
const features = readdirSync(new URL("src/features", import.meta.url))

/** Shared code, features and the app form three floors; imports point downwards only. */
const floors = [
  {
    files: ["src/{components,hooks,lib,config,styles,locales}/**"],
    rules: { "no-restricted-imports": ["error", { patterns: ["@/features/*", "@/app/*"] }] },
  },
  ...features.map((feature) => ({
    files: [`src/features/${feature}/**`],
    rules: {
      "no-restricted-imports": [
        "error",
        {
          patterns: [
            { group: ["@/app/*"], message: "A feature never imports the app." },
            {
              group: features.filter((other) => other !== feature).map((other) => `@/features/${other}/*`),
              message: "A feature never imports another feature; put them together in src/app/routes.",
            },
          ],
        },
      ],
    },
  })),
]

export default ts.config(
  { ignores: ["dist", "src/lib/api-schema.gen.ts"] },
  ...ts.configs.strict,
  ...ts.configs.stylistic,
  hooks.configs.flat["recommended-latest"],
  {
    languageOptions: { globals: globals.browser },
    rules: {
      "@typescript-eslint/consistent-type-definitions": ["error", "interface"],
      "@typescript-eslint/consistent-type-imports": "error",
      "@typescript-eslint/no-explicit-any": "error",
      "max-lines": ["error", { max: 350, skipBlankLines: true, skipComments: true }],
      complexity: ["error", 16],
      "no-console": "error",
      // The compiler is not used; virtual rows and tables work without it.
      "react-hooks/incompatible-library": "off",
      "no-restricted-syntax": [
        "error",
        { selector: "ExportDefaultDeclaration", message: "Named exports only." },
        {
          selector: "JSXAttribute[name.name=/^styles?$/] Property > Literal.value",
          message: "A style that is always the same is a class; only what is computed stands inline.",
        },
      ],
    },
  },
  { files: ["*.config.{js,ts}"], rules: { "no-restricted-syntax": "off" } },
  ...floors,
)
