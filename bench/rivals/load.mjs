/** Imports a package that is installed here. */
export const load = (name) => import(name);
