/** The same keys with other words. Languages without a singular leave out the "_one" forms. */
export type Shape<T> = {
  [K in keyof T as K extends `${string}_one` ? never : K]: T[K] extends string ? string : Shape<T[K]>
}
